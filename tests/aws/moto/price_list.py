"""The price list, which moto lacks: AWSPriceListService.GetProducts over the on-demand prices of the seed, in pages, with the filters heeded."""
import json

REGION, SIZE_DEFAULT = "us-east-1", 100
TARGET = "AWSPriceListService.GetProducts"


def entry(name, price):
    metal = ".metal" in name
    attributes = {"instanceType": name, "regionCode": REGION, "serviceCode": "AmazonEC2", "preInstalledSw": "NA", "operatingSystem": "Linux",
                  "capacitystatus": "Used", "marketoption": "OnDemand", "tenancy": "Dedicated" if metal else "Shared"}
    unit = {"unit": "Hrs", "pricePerUnit": {"USD": f"{price:.10f}"}}
    return {"product": {"productFamily": "Compute Instance (bare metal)" if metal else "Compute Instance", "attributes": attributes, "sku": name},
            "terms": {"OnDemand": {f"{name}.T": {"priceDimensions": {f"{name}.T.D": unit}, "effectiveDate": "2026-07-01T00:00:00Z"}}}}


def passes(row, wanted):
    product = row["product"]
    return all({**product["attributes"], "productFamily": product["productFamily"]}.get(one["Field"]) == one["Value"] for one in wanted)


class PriceList:
    """A WSGI application before another one, which gets every other call."""

    def __init__(self, app, prices):
        self.app = app
        self.rows = [entry(name, price) for name, price in sorted(prices.items())]

    def __call__(self, environ, start_response):
        if environ.get("HTTP_X_AMZ_TARGET") != TARGET:
            return self.app(environ, start_response)
        asked = json.loads(environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0)))
        rows = [row for row in self.rows if passes(row, asked.get("Filters", []))]
        first, size = int(asked.get("NextToken", 0)), min(int(asked.get("MaxResults", SIZE_DEFAULT)), SIZE_DEFAULT)
        answer = {"FormatVersion": "aws_v1", "PriceList": [json.dumps(row) for row in rows[first:first + size]]}
        if first + size < len(rows):
            answer["NextToken"] = str(first + size)
        body = json.dumps(answer).encode()
        start_response("200 OK", [("Content-Type", "application/x-amz-json-1.1"), ("Content-Length", str(len(body)))])
        return [body]
