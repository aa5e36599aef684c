"""Verifies the webhooks that a file holds with the library of Standard Webhooks for Python."""

import json
import sys

from standardwebhooks.webhooks import Webhook

with open(sys.argv[1]) as file:
    deliveries = json.load(file)

for given in deliveries:
    result, detail = "accepted", ""
    try:
        Webhook(given["secret"]).verify(given["body"], given["headers"])
    except Exception as error:
        result, detail = "refused", " ".join(f"{type(error).__name__} {error}".split())
    print("\t".join(["standardwebhooks for Python", "webhooks", given["name"], result, detail]))
