#!/bin/sh
# Sells one piece of a pet with curl alone:
#   BASE_ADDRESS=http://127.0.0.1:3000/v1 API_KEY=psk_… sh curl.sh 7
set -eu
: "${BASE_ADDRESS:?is where the service is, up to /v1}" "${API_KEY:?is a key with write permission}"
PET_ID=${1:-7}

# --retry waits as long as Retry-After says, and sends the request again after 429, 503 and the like.
petstore() {
  curl --silent --show-error --fail-with-body --max-time 30 --retry 3 \
    --header "Authorization: Bearer $API_KEY" "$@" && echo
}

# The whole inventory, compressed on the way.
petstore --compressed "$BASE_ADDRESS/inventory"

# The pet's entry, with its tag: [{"petId":7,"quantity":25,"status":"available","etag":"\"AAAAGQBh\""}]
entry=$(petstore "$BASE_ADDRESS/inventory?petId=$PET_ID&include=etag")
quantity=$(printf %s "$entry" | sed -n 's/.*"quantity":\([0-9]*\).*/\1/p')
etag=$(printf %s "$entry" | sed -n 's/.*"etag":"\\\(".*\)\\"".*/\1"/p')
[ "${quantity:-0}" -gt 0 ] || { echo "Pet $PET_ID is sold out." >&2; exit 1; }

# One less, if nobody has sold one since: after 412, read again and start anew. One key for all attempts
# makes them count once.
petstore --request PATCH "$BASE_ADDRESS/inventory/$PET_ID" \
  --header 'Content-Type: application/json' \
  --header "If-Match: $etag" \
  --header "Idempotency-Key: $(od -An -N16 -tx1 /dev/urandom | tr -d ' ')" \
  --data "{\"quantity\": $((quantity - 1))}"
