{{- /* Labels that select the pods of one role. Argument: (list $ role). */ -}}
{{- define "labels" -}}
{{ include "program" (index . 0) }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end }}

{{- /* Labels that select the pods of all roles. */ -}}
{{- define "program" -}}
app.kubernetes.io/name: maintainer-toolchain
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "metadata" -}}
{{- $root := index . 0 -}}
labels:
  {{- include "labels" . | nindent 2 }}
annotations:
  # Restarts the pods if the configuration changes.
  checksum/config: {{ include "config" $root | sha256sum }}
  prometheus.io/scrape: "true"
  prometheus.io/port: "9464"
{{- end }}

{{- /* Argument: (list port readiness-path startup-failures). Liveness does not depend on the stores, so that Kubernetes does not
       kill a pod because a store is down. */ -}}
{{- define "probes" -}}
startupProbe:
  httpGet: { path: /readyz, port: {{ index . 0 }} }
  periodSeconds: 2
  timeoutSeconds: 3
  failureThreshold: {{ index . 2 }}
readinessProbe:
  httpGet: { path: {{ index . 1 }}, port: {{ index . 0 }} }
  periodSeconds: {{ eq (index . 1) "/healthz" | ternary 5 10 }}
  timeoutSeconds: {{ eq (index . 1) "/healthz" | ternary 3 5 }}
livenessProbe:
  httpGet: { path: /healthz, port: {{ index . 0 }} }
  periodSeconds: 10
  timeoutSeconds: 5
{{- end }}

{{- define "pod-security" -}}
runAsNonRoot: true
runAsUser: 1000
runAsGroup: 1000
fsGroup: 1000
# By default, Kubernetes would give the group access to all files at every start, and PostgreSQL rejects data files with such access.
fsGroupChangePolicy: OnRootMismatch
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{- define "container-security" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}

{{- define "image" -}}
{{- $tag := eq .Values.stores "embedded" | ternary (printf "%s-embedded" .Chart.AppVersion) .Chart.AppVersion -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default $tag }}
{{- end }}

{{- /* Argument: (list $ whether the secret is required). */ -}}
{{- define "variables" -}}
{{- $root := index . 0 -}}
envFrom:
  - configMapRef:
      name: {{ $root.Release.Name }}
  - secretRef:
      name: {{ $root.Values.secret | default $root.Release.Name }}
      {{- if not (index . 1) }}
      optional: true
      {{- end }}
{{- end }}

{{- /* The variables in the ConfigMap. Values in `config` take precedence over the generated shards and certificate files. */ -}}
{{- define "config" -}}
{{- $config := dict -}}
{{- if .Values.clickhouse.enabled -}}
{{- $shards := list -}}
{{- range $shard := until (int .Values.clickhouse.shards) -}}
{{- $servers := list (printf "%c:" (add 97 $shard)) -}}
{{- range $replica := until (int $.Values.clickhouse.replicas) -}}
{{- $servers = append $servers (printf "http://chi-maintainer-maintainer-%d-%d:8123" $shard $replica) -}}
{{- end -}}
{{- $shards = append $shards (join " " $servers) -}}
{{- end -}}
{{- $_ := set $config "CLICKHOUSE_SHARDS" (join "; " $shards) -}}
{{- end -}}
{{- range $store, $tls := .Values.tls -}}
{{- if $tls.secretName -}}
{{- $folder := printf "/etc/maintainer-toolchain/tls/%s" $store -}}
{{- $files := printf "ca=%s/ca.crt" $folder -}}
{{- if $tls.clientCertificate -}}
{{- $files = printf "%s,cert=%s/tls.crt,key=%s/tls.key" $files $folder $folder -}}
{{- end -}}
{{- $_ := set $config (printf "%s_TLS" (upper $store)) $files -}}
{{- end -}}
{{- end -}}
{{- range $name, $value := merge dict .Values.config $config }}
{{ $name }}: {{ $value | toString | quote }}
{{- end -}}
{{- end }}
