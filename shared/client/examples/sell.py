"""Sells one piece of a pet, however many shops sell at once:
  BASE_ADDRESS=http://127.0.0.1:3000/v1 API_KEY=psk_… python3 sell.py 7
"""
import json, os, random, sys, time, uuid
from http.client import HTTPException
from urllib.error import HTTPError
from urllib.request import Request, urlopen

def read_variable(name):
    return os.environ.get(name) or sys.exit(f"{name} is not set.")

BASE_ADDRESS, API_KEY = read_variable("BASE_ADDRESS"), read_variable("API_KEY")

def call(path, **request):
    """Returns the response. Retries after 429, 5xx or a lost response."""
    request = Request(BASE_ADDRESS + path, **request)
    request.add_header("Authorization", f"Bearer {API_KEY}")
    for attempt in range(6):
        try:
            with urlopen(request, timeout=30) as response:
                return json.load(response)
        except (OSError, HTTPException, ValueError) as error:
            status, headers = getattr(error, "code", 500), getattr(error, "headers", {})
            if attempt == 5 or status < 500 and status != 429:
                raise
        time.sleep(int(headers.get("Retry-After", 0)) + random.uniform(0, 0.5 * 2**attempt))

def sell(pet_id):
    """Returns the entry after the sale."""
    while True:
        [entry] = call(f"/inventory?petId={pet_id}&include=etag") or [None]
        if not entry or entry["status"] != "available" or entry["quantity"] == 0:
            sys.exit(f"Pet {pet_id} is not for sale.")
        # One less, if the entry has not changed since. One key for all attempts makes them count once.
        headers = {"If-Match": entry["etag"], "Idempotency-Key": uuid.uuid4().hex}
        headers["Content-Type"] = "application/json"
        body = json.dumps({"quantity": entry["quantity"] - 1}).encode()
        try:
            return call(f"/inventory/{pet_id}", method="PATCH", headers=headers, data=body)
        except HTTPError as error:
            if error.code != 412:
                raise
        # Another shop was faster. Start again after a random part of a second.
        time.sleep(random.random())

try:
    print(json.dumps(sell(sys.argv[1] if len(sys.argv) > 1 else "7")))
except HTTPError as error:
    sys.exit(error.read().decode())
except (OSError, HTTPException, ValueError) as error:
    sys.exit(f"No response, so the sale may or may not have happened: {error}")
