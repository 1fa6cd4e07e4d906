#!/bin/sh
# Sells one piece of a pet with curl alone, however many shops sell at once:
#   BASE_ADDRESS=http://127.0.0.1:3000/v1 API_KEY=psk_… sh curl.sh 7
set -eu
: "${BASE_ADDRESS:?is the base address, up to /v1}" "${API_KEY:?is a key with write permission}"
PET_ID=${1:-7}
response=$(mktemp)
trap 'rm -f "$response"' EXIT

# Prints the status and keeps the body. Retries after 429, 5xx or a lost response.
petstore() {
  curl --silent --show-error --max-time 30 --retry 5 --retry-all-errors \
    --header "Authorization: Bearer $API_KEY" --output "$response" --write-out '%{http_code}' "$@"
}

while :; do
  # The entry with its tag: [{"petId":7,"quantity":9,"status":"available","etag":"\"AAAACQBh\""}]
  status=$(petstore "$BASE_ADDRESS/inventory?petId=$PET_ID&include=etag")
  [ "$status" = 200 ] || break
  quantity=$(sed -n 's/.*"quantity":\([0-9]*\).*/\1/p' "$response")
  etag=$(sed -n 's/.*"etag":"\\\("[^\\]*\)\\"".*/\1"/p' "$response")
  if [ "${quantity:-0}" -eq 0 ] || ! grep -q '"status":"available"' "$response"; then
    echo "Pet $PET_ID is not for sale." >&2
    exit 1
  fi

  # One less, if the entry has not changed since. One key for all attempts makes them count once.
  key=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
  status=$(petstore --request PATCH "$BASE_ADDRESS/inventory/$PET_ID" \
    --header 'Content-Type: application/json' \
    --header "If-Match: ${etag:?}" --header "Idempotency-Key: ${key:?}" \
    --data "{\"quantity\": $((quantity - 1))}")

  # 412: another shop was faster. Start again after a random part of a second.
  [ "$status" = 412 ] || break
  sleep "0.$(od -An -N2 -tu2 /dev/urandom | tr -d ' ')"
done
if [ "$status" != 200 ]; then
  cat "$response" >&2
  exit 1
fi
cat "$response" && echo
