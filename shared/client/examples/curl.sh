#!/bin/sh
# Sells or returns pieces of up to ten pets with curl alone, all or none:
#   BASE_ADDRESS=http://127.0.0.1:3000/v1 API_KEY=psk_… sh curl.sh order-1234 7:-1 9:-2
# The first word is the key: the id of the order or of the return. However often you run this, it
# counts once. Exit status:
#   0 done
#   1 refused: nothing has changed, and nothing will under this key
#   2 not known: run it again with the same words
#   3 wrong: nothing has changed; correct what the message names
set -eu

# Only characters that a header can carry: a file's byte order mark and line break go.
visible() {
  printf %s "$1" | LC_ALL=C tr -cd '!-~'
}

end() {
  printf '%s\n' "$2" | LC_ALL=C tr -cd ' -~\n' >&2
  exit "$1"
}

address=$(visible "${BASE_ADDRESS-}") api_key=$(visible "${API_KEY-}")
key=${1-}
[ $# -eq 0 ] || shift
case $address in http*://*/v1) ;; *) end 3 'BASE_ADDRESS is missing, or does not end in /v1.' ;; esac
[ -n "$api_key" ] || end 3 'API_KEY is missing.'
if [ -z "$key" ] || [ "$(visible "$key")" != "$key" ] || [ ${#key} -gt 255 ]; then
  end 3 "The id must be 1 to 255 visible ASCII characters, such as order-1234, not: $key"
fi
if printf '%s\n' "$@" | grep -qvE '^-?[0-9]+:-?[0-9]+$'; then
  end 3 'Each pet is an id and the pieces to add, such as 7:-1.'
fi
pets=$(printf '%s\n' "$@" | sed 's/\(.*\):\(.*\)/{"petId":\1,"delta":\2}/' | paste -sd , -)

folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT

# curl reads the API key from its input, since any user can list its arguments.
send() {
  : >"$folder/body"
  echo "Authorization: Bearer $api_key" |
    curl --silent --show-error --max-time 30 --header @- --header "Idempotency-Key: $key" \
      --header 'Content-Type: application/json' --data "{\"adjustments\":[$pets]}" \
      --output "$folder/body" --write-out '%{http_code} %header{retry-after}' \
      "$address/inventory/adjustments" || echo ' 000'
}

# Whether the body is the service's own. Another server's says nothing about the sale.
is_own() {
  grep -qE "^\{$1" "$folder/body"
}

# Retries for a minute after 408, 429, 5xx or a lost response.
last=$(($(date +%s) + 60)) may_have_happened=
while :; do
  response=$(send) body=
  case $response in *' 000') status=000 pause= ;; *) status=${response%% *} pause=${response#* } ;; esac
  body=$(LC_ALL=C tr -cd ' -~' <"$folder/body")
  if [ "$status" = 200 ] && is_own '"entries":\[(\{"petId":-?[0-9]+,"quantity":[0-9]|\])'; then
    printf '%s\n' "$body"
    exit
  fi
  own=
  if is_own "\"code\":\"[a-z_]+\",.*,\"status\":$status[,}]"; then own=1; fi
  if [ "$status" = 404 ] && is_own '"code":"(unknown_path"|not_found","message":"There is nothing at this path)'; then
    status=400
  fi
  case $own$status in
    1404 | 1409) end 1 "$body" ;;
    1429) ;;
    *408 | *429 | *5?? | *000) may_have_happened=1 ;;
    1*) [ -n "$may_have_happened" ] || end 3 "$body" ;;
  esac
  case $status in
    408 | 429 | 5?? | 000) ;;
    *) end 2 "It may or may not have happened: status $status. $body" ;;
  esac
  case $pause in '' | *[!0-9]*) pause=1 ;; esac
  [ $(($(date +%s) + pause)) -le "$last" ] || end 2 "It may or may not have happened: status $status. $body"
  sleep "$pause"
done
