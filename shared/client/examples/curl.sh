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

# Prints the status; keeps the headers and the body. Retries for a minute after 408, 429, 5xx or a
# lost response. curl reads the key from its input, since any user can list its arguments.
petstore() {
  : >"$folder/body"
  echo "Authorization: Bearer $API_KEY" |
    curl --silent --show-error --max-time 30 --retry 60 --retry-max-time 60 --retry-all-errors \
      --header @- --dump-header "$folder/headers" --output "$folder/body" \
      --write-out '%{http_code}' "$@" "$BASE_ADDRESS/inventory/$PET_ID"
}

# Whether the body is the entry. Another server's page may have status 200 too.
is_entry() {
  [ "$status" = 200 ] && grep -q "^{\"petId\":$PET_ID,\"quantity\":[0-9]" "$folder/body"
}

# Whether the body is an error of the service with this code. Another server's error says nothing.
is_error() {
  grep -q "^{\"code\":\"$1\",.*,\"status\":$status[,}]" "$folder/body"
}

# Prints the body, without control characters.
print_body() {
  LC_ALL=C tr -cd ' -~' <"$folder/body" && echo
}

while :; do
  # {"petId":7,"quantity":9,"status":"available"}, with its tag in the header ETag: "AAAACQBh"
  status=$(petstore)
  is_entry || break
  quantity=$(sed -n 's/.*"quantity":\([0-9]*\).*/\1/p' "$folder/body")
  etag=$(sed -n 's/^[Ee][Tt]ag: *\("[^"]*"\).*/\1/p' "$folder/headers" | tail -n 1)
  : "${etag:?is missing, or a proxy changed it}"
  if [ "$quantity" -eq 0 ] || ! grep -q '"status":"available"' "$folder/body"; then
    echo "Pet $PET_ID is not for sale." >&2
    exit 1
  fi

  # One less, if the entry has not changed since.
  status=$(petstore --request PATCH --header 'Content-Type: application/json' \
    --header "If-Match: $etag" --header "Idempotency-Key: ${KEY:?}" \
    --data "{\"quantity\": $((quantity - 1))}") || :
  if is_entry; then
    print_body && exit
  elif is_error idempotency_key_reused; then
    echo "Order $KEY was sold already." && exit
  elif ! is_error precondition_failed; then
    break
  fi
  # Another shop was faster. Start again after a random part of a second.
  sleep "0.$(od -An -N2 -tu2 /dev/urandom | tr -d ' ')"
done
if [ "$status" -lt 500 ] && is_error '[a-z_]*'; then
  print_body >&2
else
  echo "The sale may or may not have happened${2:+: run this again}. Status: $status" >&2
fi
exit 1
