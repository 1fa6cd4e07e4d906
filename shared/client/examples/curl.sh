#!/bin/sh
# Sells one piece of a pet with curl alone, however many shops sell at once:
#   BASE_ADDRESS=http://127.0.0.1:3000/v1 API_KEY=psk_… sh curl.sh 7 order-1234
# An order sells one piece, however often you run this. Without an order, each run sells a piece.
set -eu
: "${BASE_ADDRESS:?is the base address, up to /v1}" "${API_KEY:?is a key with write permission}"
PET_ID=${1:-7}
# One key for all attempts makes them count once.
KEY=${2:-$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')}
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT

# Prints the status; keeps the headers and the body. Retries for a minute after 429, 5xx or a lost response.
petstore() {
  curl --silent --show-error --max-time 30 --retry 60 --retry-max-time 60 --retry-all-errors \
    --header "Authorization: Bearer $API_KEY" --dump-header "$folder/headers" \
    --output "$folder/body" --write-out '%{http_code}' "$@" "$BASE_ADDRESS/inventory/$PET_ID"
}

while :; do
  # {"petId":7,"quantity":9,"status":"available"}, with its tag in the header ETag: "AAAACQBh"
  status=$(petstore)
  [ "$status" = 200 ] || break
  quantity=$(sed -n 's/.*"quantity":\([0-9]*\).*/\1/p' "$folder/body")
  etag=$(sed -n 's/^[Ee][Tt]ag: *\("[^"]*"\).*/\1/p' "$folder/headers" | tail -n 1)
  if [ "${quantity:-0}" -eq 0 ] || ! grep -q '"status":"available"' "$folder/body"; then
    echo "Pet $PET_ID is not for sale." >&2
    exit 1
  fi

  # One less, if the entry has not changed since.
  status=$(petstore --request PATCH --header 'Content-Type: application/json' \
    --header "If-Match: ${etag:?}" --header "Idempotency-Key: ${KEY:?}" \
    --data "{\"quantity\": $((quantity - 1))}") || :
  case $status in
  # Another shop was faster. Start again after a random part of a second.
  412) sleep "0.$(od -An -N2 -tu2 /dev/urandom | tr -d ' ')" ;;
  422)
    # Another server's 422 would say nothing of the order.
    grep -q idempotency_key_reused "$folder/body" || break
    echo "Order $KEY was sold already." && exit
    ;;
  000 | 5*) echo "The sale may or may not have happened${2:+: run this again}." >&2 && exit 1 ;;
  *) break ;;
  esac
done
if [ "$status" != 200 ]; then
  cat "$folder/body" >&2
  exit 1
fi
cat "$folder/body" && echo
