"""Sells or returns pieces of up to ten pets, all or none:
  BASE_ADDRESS=http://127.0.0.1:3000/v1 API_KEY=psk_… python3 sell.py order-1234 7:-1 9:-2
The first word is the key: the id of the order or of the return. However often you run this, it
counts once. Exit status: 0 for done, 1 for refused and nothing changed, 2 for not known: run it
again with the same words.
"""
import itertools, json, os, random, re, sys, time
from collections import Counter
from email.utils import mktime_tz, parsedate_tz
from http.client import HTTPException
from urllib.error import HTTPError
from urllib.request import HTTPRedirectHandler, Request, build_opener

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
        message = body["message"]
        if isinstance(body["code"], str) and body["status"] == error.code < 500:
            return Refused(error.code, "".join(c if c.isprintable() else "?" for c in message))
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

def adjust(base_address, api_key, key, deltas):
    """Returns the entries. Retries for a minute after 408, 429, 5xx or a lost response."""
    body = {"adjustments": [{"petId": pet_id, "delta": deltas[pet_id]} for pet_id in deltas]}
    headers = {"Authorization": f"Bearer {api_key}", "Content-Type": "application/json"}
    headers["Idempotency-Key"] = key
    request = Request(f"{base_address}/inventory/adjustments", json.dumps(body).encode(), headers)
    end = time.monotonic() + 60
    for attempt in itertools.count():
        pause = random.uniform(0, min(2, 0.2 * 4**attempt))
        try:
            with urlopen(request, timeout=30) as response:
                entries = json.load(response)["entries"]
            if isinstance(entries, list) and all(entry["petId"] in deltas for entry in entries):
                return entries
            raise ValueError("These are not the entries.")
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

def fail(message, status=2):
    print(message, file=sys.stderr)
    sys.exit(status)

def read_variable(name):
    return os.environ.get(name) or fail(f"{name} is not set.")

base_address, api_key = read_variable("BASE_ADDRESS"), read_variable("API_KEY")
key, *words = sys.argv[1:] or fail("The id of the order or of the return is missing.")
# Lines with the same pet are added up.
deltas = Counter()
for word in words:
    if not re.fullmatch(r"-?\d+:-?\d+", word):
        fail(f"Not the id of a pet and the pieces to add, such as 7:-1: {word!r}")
    pet_id, delta = map(int, word.split(":"))
    deltas[pet_id] += delta
try:
    print(json.dumps(adjust(base_address, api_key, key, deltas)))
except Refused as error:
    status, message = error.args
    # Of the key, only these are the outcome.
    fail(message, 1 if status in (404, 409) else 2)
except (OSError, HTTPException, ValueError, LookupError, TypeError) as error:
    # `!r` shows no control character of another server.
    fail(f"It may or may not have happened: run this again. {error!r}")
