"""Sells or returns units of up to ten pets, all or none, with Python 3.9 or later:
  BASE_URL=http://127.0.0.1:3000/v1 API_KEY=psk_… python3 sell.py order-2001 7:-1 9:-2
The first argument is the key: the id of the order or of the return. If you run this again within 30
days, it counts once. Exit status:
  0 done
  1 refused: nothing has changed, and nothing will under this key
  2 unknown, or too many requests: run it again with the same arguments
  3 invalid: this run has changed nothing; correct what the message names
"""
import json, os, random, re, sys, time
from urllib.request import HTTPErrorProcessor, Request, build_opener

DONE, REFUSED, UNKNOWN, INVALID = range(4)
REFUSALS = "404 not_found", "409 not_for_sale", "409 insufficient_stock", "409 quantity_out_of_range"
MISTAKES = (
    "400 invalid_request", "401 unauthorized", "403 forbidden", "404 unknown_path",
    "415 unsupported_media_type", "422 idempotency_key_reused",
)

class AnyStatus(HTTPErrorProcessor):
    """Follows no redirect: another server must not get the API key."""
    def http_response(self, request, response):
        return response
    https_response = http_response

urlopen = build_opener(AnyStatus).open

def end(status, message):
    text = "".join(c if c.isprintable() else "?" for c in message)
    try:
        print(text, file=sys.stderr if status else sys.stdout, flush=True)
    finally:
        # After an error, Python itself would exit with 1, which means refused.
        os._exit(status)

def read_variable(name, pattern):
    # A value that was read from a file may begin with a byte order mark and end with a line break.
    value = os.environ.get(name, "").strip("\ufeff\r\n ")
    return value if re.fullmatch(pattern, value) else end(INVALID, f"{name} is missing or invalid.")

def read_adjustment(word):
    if not re.fullmatch(r"-?(0|[1-9][0-9]{0,18}):-?(0|[1-9][0-9]{0,9})", word):
        end(INVALID, f"Each pet is an id and the units to add, such as 7:-1, not {word!r}.")
    return dict(zip(("petId", "delta"), map(int, word.split(":"))))

def send(request):
    """Status, body and Retry-After of a response, or 0 and the reason why there is none."""
    try:
        with urlopen(request, timeout=30) as response:
            return response.status, response.read(), response.headers.get("Retry-After", "")
    except Exception as error:
        # Not str(error), which may quote what another server sent.
        return 0, str(getattr(error, "reason", type(error).__name__)), ""

def parse(text):
    try:
        body = json.loads(text)
        return body if isinstance(body, dict) else {}
    except Exception:
        return {}

def adjust(key="", *words):
    """Retries after 408, 429, 5xx or a lost response, until a minute is over."""
    address = read_variable("BASE_URL", r"https?://[!-~]+/v1") + "/inventory/adjustments"
    headers = {"Authorization": "Bearer " + read_variable("API_KEY", r"[!-~]+")}
    if not re.fullmatch(r"[!-~]{1,255}", key):
        end(INVALID, f"The id must be 1 to 255 visible ASCII characters, not {key!r}.")
    headers |= {"Idempotency-Key": key, "Content-Type": "application/json"}
    adjustments = [read_adjustment(word) for word in words or [""]]
    request = Request(address, json.dumps({"adjustments": adjustments}).encode(), headers)
    pets = [one["petId"] for one in adjustments]
    last, may_have_happened = time.monotonic() + 60, False
    while True:
        status, text, retry_after = send(request)
        body = parse(text)
        entries, message = body.get("entries"), str(body.get("message", ""))
        if status == 200 and isinstance(entries, list):
            if all(entry["petId"] in pets for entry in entries):
                end(DONE, json.dumps(entries))
        # Another server's error says nothing about the sale.
        code = f"{status} {body.get('code')}" if body.get("status") == status else ""
        # Until release 3.0, not_found was the code of a wrong address too.
        if message.startswith("There is nothing at this path."):
            code = code.replace("not_found", "unknown_path")
        if code in REFUSALS:
            end(REFUSED, message)
        # Another adjustment has the key, so this one never took effect.
        if code in MISTAKES and (status == 422 or not may_have_happened):
            end(INVALID, message)
        may_have_happened = may_have_happened or code != "429 too_many_requests"
        seconds = int(retry_after) if re.fullmatch("[0-9]+", retry_after) else 0
        pause = seconds + random.uniform(0, 2)
        is_transient = status >= 500 or status in (0, 408, 429)
        if not is_transient or time.monotonic() + pause > last:
            if not may_have_happened:
                end(UNKNOWN, f"This run has changed nothing: run it again ({message}).")
            raise RuntimeError(message if code else f"status {status}" if status else text)
        time.sleep(pause)

try:
    adjust(*sys.argv[1:])
except Exception as error:
    end(UNKNOWN, f"It may or may not have happened: run this again ({error}).")
