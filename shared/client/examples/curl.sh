#!/bin/sh
# Sells or returns units of up to ten pets, all or none, with curl 7.84 or later:
#   BASE_URL=http://127.0.0.1:3000/v1 API_KEY=psk_… sh curl.sh order-2002 7:-1 9:-2
# The first argument is the key: the id of the order or of the return. If you run this again within 30
# days, it counts once. Exit status:
#   0 done
#   1 refused: nothing has changed, and nothing will under this key
#   2 unknown, or too many requests: run it again with the same arguments
#   3 invalid: this run has changed nothing; correct what the message names

# Not set -e: a command that fails has status 1, which here means refused.
set -u
LC_ALL=C
export LC_ALL
newline='
'

end() {
  printf '%s\n' "$2" | tr -c ' -~\n' '?' >&2
  exit "$1"
}

# A value that was read from a file may begin with a byte order mark and end with a line break.
trim() {
  printf %s "$1" | sed "1s/^$(printf '\357\273\277')//; \$s/$(printf '\r')\$//"
}

address=$(trim "${BASE_URL-}") api_key=$(trim "${API_KEY-}") key=${1-}
[ $# -eq 0 ] || shift
case $address in
  *[!!-~]*) end 3 'BASE_URL is not visible ASCII.' ;;
  http://?*/v1 | https://?*/v1) ;;
  *) end 3 'BASE_URL is missing, or does not end in /v1.' ;;
esac
case $api_key in '' | *[!!-~]*) end 3 'API_KEY is missing, or not visible ASCII.' ;; esac
if [ -z "$key" ] || [ "$(printf %s "$key" | tr -cd '!-~' | cut -c -255)" != "$key" ]; then
  end 3 "The id must be 1 to 255 visible ASCII characters, not: $key"
fi
if printf '%s\n' "$@" | grep -qvE '^-?(0|[1-9][0-9]*):-?(0|[1-9][0-9]*)$'; then
  end 3 "Each pet is an id and the units to add, such as 7:-1, not: $*"
fi
pets=$(printf '%s\n' "$@" | sed 's/\(.*\):\(.*\)/{"petId":\1,"delta":\2}/' | paste -sd , -)

# Sends a request. Its output is the body, then a line with the status and Retry-After. curl reads
# the API key from its input, since any user can list its arguments.
send() {
  printf 'Authorization: Bearer %s\n' "$api_key" |
    curl --silent --show-error --max-time 30 --header @- --header "Idempotency-Key: $key" \
      --header 'Content-Type: application/json' --data "{\"adjustments\":[$pets]}" \
      --write-out '\n%{http_code} %header{retry-after}' "$address/inventory/adjustments"
}

# Whether a body has the entries of these pets.
has_own_entries() {
  case $1 in '{'*'"entries":['*']'*'}') ;; *) return 1 ;; esac
  for id in $(printf %s "$1" | grep -oE '"petId":[^,}]*'); do
    case $pets in *"$id,"*) ;; *) return 1 ;; esac
  done
}

# Retries after 408, 429, 5xx or a lost response, until a minute is over.
last=$(($(date +%s) + 60)) may_have_happened=
while :; do
  response=$(send) || response="${newline}000 "
  body=${response%"$newline"*} response=${response##*"$newline"}
  status=${response%% *} pause=${response#* }
  # Another server's error says nothing about the sale. The service's own has one of its codes.
  # Until release 3.0, not_found was the code of a wrong address too.
  # Members have no order, and those of `refused` are left out.
  code= members=$(printf %s "$body" | sed 's/\[[^]]*]//g')
  case $members in
    '{"code":"not_found","message":"There is nothing at this path.'*'"status":404}') code=unknown_path ;;
    '{'*"\"status\":$status,"*'}' | '{'*"\"status\":$status}")
      code=$(printf '%s\n' "$members" | sed -n 's/.*"code":"\([a-z_]*\)".*/\1/p')
      ;;
  esac
  case $status$code in
    200)
      if has_own_entries "$body"; then
        printf '%s\n' "$body"
        exit 0
      fi
      may_have_happened=1
      ;;
    404not_found | 409not_for_sale | 409insufficient_stock | 409quantity_out_of_range)
      end 1 "$body"
      ;;
    # Another adjustment has the key, so this one never took effect.
    422idempotency_key_reused)
      end 3 "$body"
      ;;
    400invalid_request | 401unauthorized | 403forbidden | 404unknown_path | 415unsupported_media_type)
      [ -n "$may_have_happened" ] || end 3 "$body"
      ;;
    429too_many_requests) ;;
    *) may_have_happened=1 ;;
  esac
  case $status in
    408 | 429 | 5?? | 000) ;;
    *) pause=99 ;;
  esac
  case $pause in '' | 0* | *[!0-9]*) pause=1 ;; ???*) pause=99 ;; esac
  if [ $(($(date +%s) + pause)) -gt "$last" ]; then
    [ -n "$may_have_happened" ] || end 2 "This run has changed nothing: run it again. $body"
    end 2 "It may or may not have happened: run this again. $status ${code:+$body}"
  fi
  sleep "$pause"
done
