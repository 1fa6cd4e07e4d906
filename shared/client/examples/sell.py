"""Sells one piece of a pet, however many shops sell at once:
  BASE_ADDRESS=http://127.0.0.1:3000/v1 API_KEY=psk_… python3 sell.py 7 order-1234
An order sells one piece, however often you run this. Without an order, each run sells a piece.
"""
import itertools, json, os, random, re, sys, time, uuid
from email.utils import mktime_tz, parsedate_tz
from http.client import HTTPException
from urllib.error import HTTPError
from urllib.request import HTTPRedirectHandler, Request, build_opener

def read_variable(name):
    return os.environ.get(name) or sys.exit(f"{name} is not set.")

BASE_ADDRESS, API_KEY = read_variable("BASE_ADDRESS"), read_variable("API_KEY")

class NoRedirects(HTTPRedirectHandler):
    """Another server must not get the key."""
    def redirect_request(self, *_):
        return None

urlopen = build_opener(NoRedirects).open

class Refused(Exception):
    """The service's own error: the attempt has changed nothing."""

def read_error(error):
    """A Refused, or the error itself if another server sent it: that says nothing about the sale."""
    try:
        body = json.load(error)
        code, message = body["code"], body["message"]
        if body["status"] == error.code < 500 and isinstance(message, str):
            return Refused(code, "".join(c if c.isprintable() else "?" for c in message))
    except (OSError, HTTPException, ValueError, LookupError, TypeError):
        pass
    return error

def read_pause(headers):
    """The seconds in Retry-After, or until the date there."""
    text = headers.get("Retry-After", "")
    if re.fullmatch(r"\d+(\.\d+)?", text):
        return float(text)
    end, now = parsedate_tz(text), parsedate_tz(headers.get("Date", ""))
    return max(0, mktime_tz(end) - (mktime_tz(now) if now else time.time())) if end else 0

def call(pet_id, **request):
    """Returns the entry and its tag. Retries for a minute after 408, 429, 5xx or a lost response."""
    request = Request(f"{BASE_ADDRESS}/inventory/{pet_id}", **request)
    request.add_header("Authorization", f"Bearer {API_KEY}")
    end = time.monotonic() + 60
    for attempt in itertools.count():
        pause = random.uniform(0, min(2, 0.2 * 4**attempt))
        try:
            with urlopen(request, timeout=30) as response:
                entry, etag = json.load(response), response.headers["ETag"]
            if entry["petId"] != pet_id or not re.fullmatch('"[^"]+"', etag):
                raise ValueError("It is not the entry with its tag.")
            return entry, etag
        except HTTPError as error:
            failure = read_error(error)
            if error.code < 500 and error.code not in (408, 429):
                raise failure
            pause += read_pause(error.headers)
        except (OSError, HTTPException) as error:
            failure = error
        if time.monotonic() + pause > end:
            raise failure
        time.sleep(pause)

def sell(pet_id, key):
    """Returns the entry after the sale. One key for all attempts makes them count once."""
    while True:
        entry, etag = call(pet_id)
        if entry["status"] != "available" or entry["quantity"] == 0:
            sys.exit(f"Pet {pet_id} is not for sale.")
        # One less, if the entry has not changed since.
        headers = {"If-Match": etag, "Idempotency-Key": key, "Content-Type": "application/json"}
        body = json.dumps({"quantity": entry["quantity"] - 1}).encode()
        try:
            return call(pet_id, method="PATCH", headers=headers, data=body)[0]
        except Refused as error:
            if error.args[0] != "precondition_failed":
                raise
        # Another shop was faster. Start again after a random part of a second.
        time.sleep(random.random())

pet_id = int(sys.argv[1]) if len(sys.argv) > 1 else 7
key = sys.argv[2] if len(sys.argv) > 2 else uuid.uuid4().hex
try:
    print(json.dumps(sell(pet_id, key)))
except Refused as error:
    code, message = error.args
    sys.exit(print(f"Order {key} was sold already.") if code == "idempotency_key_reused" else message)
except (OSError, HTTPException, ValueError, LookupError, TypeError) as error:
    # `!r` shows no control character of another server.
    sys.exit(f"The sale may or may not have happened: {error!r}")
