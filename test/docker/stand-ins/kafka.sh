#!/bin/bash
# By its own name the broker, set up by the same class as in the official image; by the name of one of Kafka's tools that tool.
set -e
tool() { exec java ${KAFKA_HEAP_OPTS:--Xmx256m} -cp '/opt/kafka/libs/*' "$@"; }
case ${0##*/} in
  kafka-consumer-groups.sh) tool org.apache.kafka.tools.consumer.group.ConsumerGroupCommand "$@" ;;
  kafka-configs.sh) tool kafka.admin.ConfigCommand "$@" ;;
esac
java -Xmx256m -cp '/opt/kafka/libs/*' kafka.docker.KafkaDockerWrapper setup --default-configs-dir /etc/kafka/docker \
  --mounted-configs-dir /mnt/shared/config --final-configs-dir /opt/kafka/config > /tmp/setup.log 2>&1 \
  || grep -qi 'already formatted' /tmp/setup.log || { cat /tmp/setup.log; exit 1; }
# As the official image, whose log says when it has started.
tool -Dorg.apache.logging.log4j.level=INFO kafka.Kafka /opt/kafka/config/server.properties
