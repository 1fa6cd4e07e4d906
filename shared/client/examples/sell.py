"""Sells or returns pieces of up to ten pets, all or none:
  BASE_ADDRESS=http://127.0.0.1:3000/v1 API_KEY=psk_… python3 sell.py order-1234 7:-1 9:-2
The first word is the key: the id of the order or of the return. However often you run this, it
counts once. Exit status:
  0 done
  1 refused: nothing has changed, and nothing will under this key
  2 not known: run it again with the same words
  3 wrong: nothing has changed; correct what the message names
"""
import itertools, json, os, random, re, sys, time
from email.utils import mktime_tz, parsedate_tz
from http.client import HTTPException
from urllib.error import HTTPError
from urllib.request import HTTPRedirectHandler, Request, build_opener

DONE, REFUSED, UNKNOWN, WRONG = range(4)

class NoRedirects(HTTPRedirectHandler):
    """Another server must not get the key."""
    def redirect_request(self, *_):
        return None

urlopen = build_opener(NoRedirects).open

def end(status, message):
    print("".join(c if c.isprintable() else "?" for c in message), file=sys.stderr)
    sys.exit(status)

def read_own(error):
    """Code and message of the service's own error. Another server's says nothing about the sale."""
    try:
        body = json.load(error)
        if isinstance(body["code"], str) and body["status"] == error.code:
            return body["code"], str(body["message"])
    except (OSError, HTTPException, ValueError, LookupError, TypeError):
        pass
    return "", ""

def read_pause(headers):
    """The seconds in Retry-After, or until the date there."""
    text = headers.get("Retry-After", "")
    if re.fullmatch(r"\d+(\.\d+)?", text):
        return float(text)
    then, now = parsedate_tz(text), parsedate_tz(headers.get("Date", ""))
    return max(0, mktime_tz(then) - (mktime_tz(now) if now else time.time())) if then else 0

def adjust(base_address, api_key, key, adjustments):
    """Returns the entries. Retries for a minute after 408, 429, 5xx or a lost response."""
    headers = {"Authorization": f"Bearer {api_key}", "Content-Type": "application/json"}
    headers["Idempotency-Key"] = key
    body = json.dumps({"adjustments": adjustments}).encode()
    request = Request(f"{base_address}/inventory/adjustments", body, headers)
    last = time.monotonic() + 60
    may_have_happened = False
    for attempt in itertools.count():
        pause = random.uniform(0, min(2, 0.2 * 4**attempt))
        try:
            with urlopen(request, timeout=30) as response:
                entries = json.load(response)["entries"] if response.status == 200 else None
            pets = [one["petId"] for one in adjustments]
            if isinstance(entries, list) and all(entry["petId"] in pets for entry in entries):
                return entries
            end(UNKNOWN, "This is no response of the service.")
        except HTTPError as error:
            status, (code, message) = error.code, read_own(error)
            is_elsewhere = code == "unknown_path" or message.startswith("There is nothing at this path.")
            if code and status in (404, 409) and not is_elsewhere:
                end(REFUSED, message)
            if status < 500 and status not in (408, 429):
                end(WRONG if code and not may_have_happened else UNKNOWN, message or f"Status {status}.")
            may_have_happened = may_have_happened or not (code and status == 429)
            failure = message or f"Status {status}."
            pause += read_pause(error.headers)
        except (OSError, HTTPException, ValueError, LookupError, TypeError) as error:
            may_have_happened = True
            failure = repr(error)
        if time.monotonic() + pause > last:
            end(UNKNOWN, f"It may or may not have happened: {failure}")
        time.sleep(pause)

def read_variable(name, pattern):
    # A file may begin with a byte order mark and end with a line break.
    value = os.environ.get(name, "").strip("\ufeff\r\n ")
    return value if re.fullmatch(pattern, value) else end(WRONG, f"{name} is missing or invalid.")

base_address = read_variable("BASE_ADDRESS", r"https?://[!-~]+/v1")
api_key = read_variable("API_KEY", r"[!-~]+")
key, *words = sys.argv[1:] or [""]
if not re.fullmatch(r"[!-~]{1,255}", key):
    end(WRONG, f"The id must be 1 to 255 visible ASCII characters, such as order-1234, not {key!r}.")
for word in words or [""]:
    if not re.fullmatch(r"-?[0-9]{1,19}:-?[0-9]{1,10}", word):
        end(WRONG, f"Not the id of a pet and the pieces to add, such as 7:-1: {word!r}")
pairs = [map(int, word.split(":")) for word in words]
print(json.dumps(adjust(base_address, api_key, key, [{"petId": i, "delta": d} for i, d in pairs])))
