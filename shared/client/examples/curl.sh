#!/bin/sh
# Sells or returns pieces of up to ten pets with curl alone, all or none:
#   BASE_ADDRESS=http://127.0.0.1:3000/v1 API_KEY=psk_… sh curl.sh order-1234 7:-1 9:-2
# The first word is the key: the id of the order or of the return. However often you run this, it
# counts once. Exit status: 0 for done, 1 for refused and nothing changed, 2 for not known: run it
# again with the same words.
set -eu
: "${BASE_ADDRESS:?is the base address, up to /v1}" "${API_KEY:?is a key with write permission}"
KEY=${1:?is the id of the order or of the return}
shift
if printf '%s\n' "$@" | grep -qvE '^-?[0-9]+:-?[0-9]+$'; then
  echo 'Each pet is an id and the pieces to add, such as 7:-1.' >&2
  exit 2
fi

# One adjustment for each pet: lines with the same pet are added up.
body=$(printf '%s\n' "$@" | awk -F : '
  { sums[$1] += $2 }
  END {
    for (id in sums) list = list (list ? "," : "") sprintf("{\"petId\":%s,\"delta\":%.0f}", id, sums[id])
    print "{\"adjustments\":[" list "]}"
  }')
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
: >"$folder/body"

# Retries for a minute after 408, 429, 5xx or a lost response. curl reads the API key from its input,
# since any user can list its arguments.
status=$(
  echo "Authorization: Bearer $API_KEY" |
    curl --silent --show-error --max-time 30 --retry 60 --retry-max-time 60 --retry-all-errors \
      --header @- --header 'Content-Type: application/json' --header "Idempotency-Key: $KEY" \
      --data "$body" --output "$folder/body" --write-out '%{http_code}' \
      "$BASE_ADDRESS/inventory/adjustments"
) || :

# Whether the body begins as the service's own. Another server's says nothing about the sale.
is_own() {
  grep -qE "^\{$1" "$folder/body"
}

# Prints the body, without control characters.
print_body() {
  LC_ALL=C tr -cd ' -~' <"$folder/body" && echo
}

if [ "$status" = 200 ] && is_own '"entries":\[(\{"petId":-?[0-9]+,"quantity":[0-9]|\])'; then
  print_body && exit
elif [ "$status" -lt 500 ] && is_own "\"code\":\"[a-z_]+\",.*,\"status\":$status[,}]"; then
  print_body >&2
  # Of the key, only these are the outcome.
  case $status in 404 | 409) exit 1 ;; esac
else
  echo "It may or may not have happened: run this again. Status: $status" >&2
fi
exit 2
