"""Faults between a client and moto, a pod identity agent, and a count of calls: a WSGI layer around the server.

/karst/faults       POST {"calls": [RULE...], "capacity": [...]} replaces what is set; GET returns it, with how often each rule still holds.
                    A RULE: {"action": "CreateFleet", "times": 1, "do": WHAT}, "action" "*" for any; WHAT is one of
                      {"status": 503, "code": "RequestLimitExceeded", "headers": {"Retry-After": "2"}}   answered so, nothing done
                      {"cut": "before"}   the connection ends, nothing done       {"cut": "after"}   it ends, and it was done
                      {"seconds": 2}      answered so much later                  {"body": "<html>"}  status 200 and this
                    with "date": "Sat, 01 Aug 2026 10:00:00 GMT" besides, the answer is of that time
                    "capacity": [{"type": "m5.large", "zone": "us-east-1a", "ct": "spot", "code": "InsufficientInstanceCapacity"}], read by CreateFleet
/karst/instances    GET: all instances that there ever were, as JSON, with their tags and what moto knows of their type (server.py fills it in)
/karst/calls        GET: how often each action was asked since the start or the last DELETE
/karst/credentials  GET with "Authorization: pod-token": keys as EKS Pod Identity hands them out; "seconds" of the query is their life
"""
import collections
import datetime
import io
import json
import socket
import threading
import time
import urllib.parse

rules, capacity, calls, lock = [], [], collections.Counter(), threading.Lock()
every_instance = list  # set by server.py: what /karst/instances answers
here = threading.local()  # .date: the Date of the answer that this thread is about to give; .body: the bytes of the request


def action_of(environ, body):
    """The action, and how errors of its service are written."""
    target = environ.get("HTTP_X_AMZ_TARGET")
    if target:
        return target.rpartition(".")[2], "json"
    form = urllib.parse.parse_qs(body.decode("utf-8", "replace")) if "form" in environ.get("CONTENT_TYPE", "") else {}
    scope = environ.get("HTTP_AUTHORIZATION", "").partition("Credential=")[2].split("/")
    return form.get("Action", [environ["REQUEST_METHOD"] + " " + environ["PATH_INFO"]])[0], "ec2" if "ec2" in scope else "query"


def error_body(code, shape):
    if shape == "json":
        return json.dumps({"__type": "com.amazonaws#" + code, "message": "injected"})
    error = f"<Error><Code>{code}</Code><Message>injected</Message></Error>"
    return f"<Response><Errors>{error}</Errors><RequestID>injected</RequestID></Response>" if shape == "ec2" else \
        f"<ErrorResponse>{error}<RequestId>injected</RequestId></ErrorResponse>"


def rule_for(action):
    with lock:
        calls[action] += 1
        for rule in rules:
            if rule["action"] in (action, "*") and rule.get("times", 1) > 0:
                rule["times"] = rule.get("times", 1) - 1
                return rule["do"]
    return {}


class Faults:
    def __init__(self, app):
        self.app = app

    def __call__(self, environ, start_response):
        body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        environ["wsgi.input"], here.body, here.date = io.BytesIO(body), body, None
        if environ["PATH_INFO"].startswith("/karst/"):
            return self.control(environ, start_response, body)
        action, shape = action_of(environ, body)
        do = rule_for(action)
        here.date = do.get("date")
        time.sleep(do.get("seconds", 0))
        if do.get("cut") == "before":
            return self.cut(environ)
        if "status" in do:
            return self.say(start_response, do["status"], error_body(do.get("code", ""), shape) if do.get("code") else "", do.get("headers", {}))
        if "body" in do:
            return self.say(start_response, 200, do["body"])
        answer = {}

        def remember(status, headers, exc_info=None):
            answer.update(status=status, headers=headers)
            return lambda data: None

        parts = list(self.app(environ, remember))
        if do.get("cut") == "after":
            return self.cut(environ)
        start_response(answer["status"], answer["headers"])
        return parts

    def cut(self, environ):
        environ["werkzeug.socket"].shutdown(socket.SHUT_RDWR)
        raise ConnectionAbortedError("cut, as asked")

    def say(self, start_response, status, text, headers=()):
        start_response(f"{status} injected", [("Content-Length", str(len(text.encode()))), *dict(headers).items()])
        return [text.encode()]

    def control(self, environ, start_response, body):
        path, method = environ["PATH_INFO"], environ["REQUEST_METHOD"]
        if path == "/karst/faults":
            with lock:
                if method == "POST":
                    given = json.loads(body)
                    rules[:], capacity[:] = given.get("calls", []), given.get("capacity", [])
                return self.say(start_response, 200, json.dumps({"calls": rules, "capacity": capacity}))
        if path == "/karst/instances":
            return self.say(start_response, 200, json.dumps(every_instance()))
        if path == "/karst/calls":
            with lock:
                if method == "DELETE":
                    calls.clear()
                return self.say(start_response, 200, json.dumps(calls))
        if path == "/karst/credentials":
            if environ.get("HTTP_AUTHORIZATION") != "pod-token":
                return self.say(start_response, 401, "")
            seconds = int(urllib.parse.parse_qs(environ.get("QUERY_STRING", "")).get("seconds", ["3600"])[0])
            ends = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=seconds)
            return self.say(start_response, 200, json.dumps({"AccessKeyId": "ASIAPOD", "SecretAccessKey": "pod", "Token": "pod-session",
                                                             "Expiration": ends.strftime("%Y-%m-%dT%H:%M:%SZ")}))
        return self.say(start_response, 404, "")
