"""Validates an OpenAPI document: python validate.py <document>"""

import json
import sys

from openapi_spec_validator import OpenAPIV31SpecValidator, validate

with open(sys.argv[1]) as file:
    document = json.load(file)
assert document["openapi"].startswith("3.1."), document["openapi"]
validate(document, cls=OpenAPIV31SpecValidator)
operations = sum(len(methods) for methods in document["paths"].values())
print(f"- the OpenAPI document is valid: {operations} operations")
