"""Sells one piece of a pet, however many shops sell at once:
  BASE_ADDRESS=http://127.0.0.1:3000/v1 API_KEY=psk_… python3 sell.py 7 order-1234
An order sells one piece, however often you run this. Without an order, each run sells a piece.
"""
import itertools, json, os, random, sys, time, uuid
from http.client import HTTPException
from urllib.error import HTTPError
from urllib.request import Request, urlopen

def read_variable(name):
    return os.environ.get(name) or sys.exit(f"{name} is not set.")

BASE_ADDRESS, API_KEY = read_variable("BASE_ADDRESS"), read_variable("API_KEY")

def call(pet_id, **request):
    """Returns the entry and its tag. Retries for a minute after 429, 5xx or a lost response."""
    request = Request(f"{BASE_ADDRESS}/inventory/{pet_id}", **request)
    request.add_header("Authorization", f"Bearer {API_KEY}")
    end = time.monotonic() + 60
    for attempt in itertools.count():
        try:
            with urlopen(request, timeout=30) as response:
                return json.load(response), response.headers["ETag"]
        except (OSError, HTTPException, ValueError) as error:
            status, headers = getattr(error, "code", 500), getattr(error, "headers", {})
            pause = int(headers.get("Retry-After", 0)) + random.uniform(0, min(2, 0.2 * 4**attempt))
            if status < 500 and status != 429 or time.monotonic() + pause > end:
                raise
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
        except HTTPError as error:
            if error.code != 412:
                raise
        # Another shop was faster. Start again after a random part of a second.
        time.sleep(random.random())

pet_id = sys.argv[1] if len(sys.argv) > 1 else "7"
key = sys.argv[2] if len(sys.argv) > 2 else uuid.uuid4().hex
try:
    print(json.dumps(sell(pet_id, key)))
except HTTPError as error:
    text = error.read().decode()
    # Another server's 422 would say nothing of the order.
    if error.code == 422 and "idempotency_key_reused" in text:
        sys.exit(print(f"Order {key} was sold already."))
    unknown = "The sale may or may not have happened: " if error.code >= 500 else ""
    sys.exit(unknown + text)
except (OSError, HTTPException, ValueError) as error:
    sys.exit(f"No response, so the sale may or may not have happened: {error}")
