"""Compares each response of the service with the document that describes it."""

import json
import re

from openapi_schema_validator import OAS31Validator, oas31_format_checker


class Responses:
    """An event hook of httpx that fails on a response which the document does not declare."""

    def __init__(self, document):
        self.document = document
        self.operations = set()
        self.count = 0

    def check(self, response):
        response.read()
        request = response.request
        path, methods = self._find(request.url.path, request.method.lower())
        operation = methods[request.method.lower()]
        name = f"{request.method} {path}: {response.status_code}"
        declared = operation["responses"]
        found = declared.get(str(response.status_code), declared["default"])
        assert response.is_success == (found is not declared["default"]), f"{name} is not declared"
        for header, described in found.get("headers", {}).items():
            assert header in response.headers or not described["required"], f"{name}: no {header}"
        self._check_content(name, found.get("content"), response)
        self.operations.add(operation["operationId"])
        self.count += 1

    def _find(self, path, method):
        base = self.document["servers"][0]["url"].split("/", 3)[3]
        for template, methods in self.document["paths"].items():
            pattern = re.sub(r"\{\w+\}", "[^/]+", f"/{base}{template}")
            if method in methods and re.fullmatch(pattern, path):
                return template, methods
        raise AssertionError(f"{method} {path} is not in the document")

    def _check_content(self, name, content, response):
        if content is None:
            assert response.content == b"", f"{name} has content"
            return
        media_type = response.headers["content-type"].split(";")[0]
        assert media_type in content, f"{name} is {media_type}"
        schema = content[media_type]["schema"]
        if media_type == "application/jsonl":
            self._validate(name, schema["contentSchema"], lines_of(response.text))
        else:
            self._validate(name, schema, response.json())

    def _validate(self, name, schema, value):
        # References in the schema are relative to the document.
        whole = {**schema, "components": self.document["components"]}
        validator = OAS31Validator(whole, format_checker=oas31_format_checker)
        problems = [f"{error.json_path}: {error.message}" for error in validator.iter_errors(value)]
        assert not problems, f"{name} differs from the document: {problems}"


def lines_of(text):
    return [json.loads(line) for line in text.splitlines()]
