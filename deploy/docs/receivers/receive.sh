#!/bin/sh
# A webhook receiver as a CGI script. Requires a shell, openssl and WEBHOOK_SECRET in the environment.
# Responds with 204 to a genuine delivery that is at most five minutes old, and with 401 to all other requests.

body=$(mktemp) && trap 'rm -f "$body"' EXIT && head -c "$CONTENT_LENGTH" > "$body"
time=$(printf '%s' "$HTTP_X_SERVICE_SIGNATURE" | sed -n 's/^t=\([0-9]\{1,12\}\),.*/\1/p')

# Computes the HMAC from two plain hashes (RFC 2104). `openssl dgst -hmac` would take the secret as an argument, and every user
# of the machine can see the arguments of a process.
pad() {
  for byte in $(printf '%s' "$WEBHOOK_SECRET" | od -An -v -tu1); do printf '%b' "\\0$(printf %03o $((byte ^ $1)))"; done
  for zero in $(seq $((64 - ${#WEBHOOK_SECRET}))); do printf '%b' "\\0$(printf %03o "$1")"; done
}
inner() { { pad 54; printf '%s.' "$time"; cat "$body"; } | openssl dgst -sha256 -binary; }
digest=$({ pad 92; inner; } | openssl dgst -sha256 -r | cut -d ' ' -f 1)

# Compares hashes with a random key, so that the duration of the comparison reveals nothing.
key=$(openssl rand -hex 32)
blind() { printf '%s' "$key$1" | openssl dgst -sha256 -r; }

genuine=no
for signature in $(printf '%s' "$HTTP_X_SERVICE_SIGNATURE" | tr ',' '\n' | sed -n 's/^v1=//p'); do
  [ "$(blind "$signature")" = "$(blind "$digest")" ] && age=$(($(date +%s) - time)) &&
    [ "$age" -le 300 ] && [ "$age" -ge -300 ] && genuine=yes
done

if [ "$genuine" = yes ]; then
  printf 'Status: 204\r\n\r\n' # Queue the event in "$body" here, and process it after the response.
else
  printf 'Status: 401\r\n\r\n'
fi
