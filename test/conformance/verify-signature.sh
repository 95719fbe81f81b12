#!/bin/sh
# The six steps with which a receiver verifies `X-Service-Signature`, in nothing but a shell and openssl.
#
#     verify-signature.sh SECRET HEADER < the raw body
#
# Ends with status 0 for a genuine request and 1 for any other. NOW and TOLERANCE (seconds) are for tests.
set -eu
secret=$1
header=$2
now=${NOW:-$(date +%s)}
tolerance=${TOLERANCE:-300}

# 1. Parse t and v1 from the header; during a rotation of the secret there are two v1.
fields=$(printf '%s\n' "$header" | tr ',' '\n')
t=$(printf '%s\n' "$fields" | sed -n 's/^t=\([0-9]\{1,12\}\)$/\1/p' | head -n 1)
signatures=$(printf '%s\n' "$fields" | sed -n 's/^v1=\([0-9a-f]\{64\}\)$/\1/p')
[ -n "$t" ] || exit 1

# 2., 6. What was signed is t, a dot and the raw body, as it came.
# 3. Its HMAC-SHA256, keyed with the secret, in hexadecimal.
digest=$({ printf '%s.' "$t"; cat; } | openssl dgst -sha256 -hmac "$secret" -r | cut -d ' ' -f 1)

# 4. In constant time: what is compared are digests under a key that nobody knows.
key=$(openssl rand -hex 32)
blind() { printf '%s' "$1" | openssl dgst -sha256 -hmac "$key" -r | cut -d ' ' -f 1; }
wanted=$(blind "$digest")
genuine=1
for signature in $signatures; do
  [ "$(blind "$signature")" = "$wanted" ] && genuine=0
done

# 5. Refuse what is older, or newer, than a few minutes.
age=$((now - t))
[ "$age" -le "$tolerance" ] && [ "$age" -ge "-$tolerance" ] || exit 1
exit "$genuine"
