"""Faults between a client and moto, a pod identity agent, and a count of calls: a WSGI layer around the server.

/karst/faults       POST {"calls": [RULE...], "capacity": [...]} replaces what is set; GET returns it, with how often each rule still holds ("times") and was played.
                    A RULE: {"action": "CreateFleet", "times": 1, "do": WHAT}, "action" "*" for any; WHAT is one of
                      {"status": 503, "code": "RequestLimitExceeded", "headers": {"Retry-After": "2"}}   answered so, nothing done
                      {"cut": "before"}   the connection ends, nothing done       {"cut": "after"}   it ends, and it was done
                      {"seconds": 2}      done and answered so much later         {"body": "<html>"}  status 200 and this
                      {"late": 2}         done at once, answered so much later
                      {"page": "twice"}   EC2's list names a next page, which is the same again   {"page": "cut"}   it ends in its middle
                      {"page": "hole"}    its first reservation is missing                        {"page": "item"}  its first reservation comes twice
                      {"fewer": 1}        CreateFleet makes so many machines less, and says that there was no room for them
                    with "date": "Sat, 01 Aug 2026 10:00:00 GMT" besides, the answer is of that time
                    "queue": {"WaitTimeSeconds": 1, "VisibilityTimeout": 5}: what ReceiveMessage asks for counts no longer than this; stays until it is given anew.
                    A poll of a client that is dead takes messages until it is over, and they are hidden for as long: so a killed client is less missed
                    "capacity": [{"type": "m5.large", "zone": "us-east-1a", "ct": "spot", "code": "InsufficientInstanceCapacity"}], read by CreateFleet
/karst/instances    GET: all instances that there ever were, as JSON, with their tags and what moto knows of their type (server.py fills it in)
/karst/journal      GET: a line of JSON for each CreateFleet, TerminateInstances and DescribeInstances by ids, in their order: what was asked, what was
                    played on it ("do"), and of CreateFleet what came of it: machines made, offers without room, machines that run in all (server.py)
/karst/calls        GET: how often each action was asked since the start or the last DELETE
/karst/credentials  GET with "Authorization: pod-token": keys as EKS Pod Identity hands them out; "seconds" of the query is their life
"""
import collections
import datetime
import io
import hashlib
import json
import re
import socket
import threading
import time
import urllib.parse

JOURNAL_MAX = 100_000
rules, capacity, queue, journal, calls, lock = [], [], {}, [], collections.Counter(), threading.Lock()
every_instance = list  # set by server.py: what /karst/instances answers
# .date: the Date of the answer that this thread is about to give; .body: the bytes of the request; .do: what is played on it; .entry: of the journal
here = threading.local()


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
                rule["times"], rule["played"] = rule.get("times", 1) - 1, rule.get("played", 0) + 1
                return rule["do"]
    return {}


def ids_in(form):
    """The machines that a call names: by id, or by a filter on ids."""
    filters = [key.removesuffix("Name") + "Value." for key, value in form.items() if key.startswith("Filter.") and value == "instance-id"]
    return [value for key, value in form.items() if key.startswith(("InstanceId.", *filters))]


def entry_of(action, body, do):
    """The journal's entry about a call, {} for those that it does not keep."""
    form = {key: values[0] for key, values in urllib.parse.parse_qs(body.decode("utf-8", "replace")).items()} if action in (
        "CreateFleet", "TerminateInstances", "DescribeInstances") else {}
    entry = {"action": action, "at": time.time(), "do": do, "ids": ids_in(form)}
    if action == "CreateFleet":
        entry.update(token=form.get("ClientToken"), digest=hashlib.sha256(body).hexdigest(), wanted=sorted(
            {(form[key], form.get(key.replace("InstanceType", "AvailabilityZone"))) for key in form if key.endswith(".InstanceType")}))
    elif not entry["ids"]:
        return {}
    with lock:
        if len(journal) < JOURNAL_MAX:
            journal.append(entry)
    return entry


def other_page(body, how, again):
    """EC2's list as it should not be. `again`: it is the next page of one that was told to come twice."""
    reservations = re.compile(r"(<reservationSet>\s*)(<item>.*?</instancesSet>.*?</item>)", re.DOTALL)
    text = body.decode()
    if how == "cut":
        return body[:len(body) * 2 // 3]
    if how == "hole":
        return reservations.sub(r"\1", text, count=1).encode()
    if how == "item":
        return reservations.sub(r"\1\2\2", text, count=1).encode()
    return body if again else text.replace("</DescribeInstancesResponse>", "<nextToken>karst-again</nextToken></DescribeInstancesResponse>").encode()


class Faults:
    def __init__(self, app):
        self.app = app

    def __call__(self, environ, start_response):
        body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        environ["wsgi.input"], here.body, here.date = io.BytesIO(body), body, None
        if environ["PATH_INFO"].startswith("/karst/"):
            return self.control(environ, start_response, body)
        action, shape = action_of(environ, body)
        again = b"karst-again" in body
        if again:  # moto knows no such page: it is the first one once more
            body = self.other_body(environ, body.replace(b"&NextToken=karst-again", b""))
        if action == "ReceiveMessage" and queue:
            asked = json.loads(body)
            body = self.other_body(environ, json.dumps({**asked, **{key: min(asked[key], most) for key, most in queue.items() if key in asked}}).encode())
        do = {"page": "twice"} if again else rule_for(action)
        here.date, here.do, here.entry = do.get("date"), do, entry_of(action, body, do)
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
        time.sleep(do.get("late", 0))
        if do.get("cut") == "after":
            return self.cut(environ)
        if do.get("page"):
            parts = [other_page(b"".join(parts), do["page"], again)]
            answer["headers"] = [(name, value) for name, value in answer["headers"] if name.lower() != "content-length"]
            answer["headers"].append(("Content-Length", str(len(parts[0]))))
        start_response(answer["status"], answer["headers"])
        return parts

    def other_body(self, environ, body):
        environ["wsgi.input"], here.body, environ["CONTENT_LENGTH"] = io.BytesIO(body), body, str(len(body))
        return body

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
                    queue.update(given.get("queue", {}))
                return self.say(start_response, 200, json.dumps({"calls": rules, "capacity": capacity, "queue": queue}))
        if path == "/karst/instances":
            return self.say(start_response, 200, json.dumps(every_instance()))
        if path == "/karst/journal":
            with lock:
                return self.say(start_response, 200, "".join(json.dumps(entry) + "\n" for entry in journal))
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
