"""The airports nearest to a place, from the dataset beside this file.

GET /api/transport/nearest/?latitude=47.6&longitude=-122.3

Needs python3 with fastapi and uvicorn on the server (Debian: python3-fastapi, python3-uvicorn).
"""
import csv
import math
import os

from fastapi import APIRouter, Query

router = APIRouter()

with open(os.environ["SVC_DOCROOT"] + "/transport/airports.csv", encoding="utf-8", newline="") as file:
    AIRPORTS = list(csv.DictReader(file))


def kilometres(airport, latitude, longitude):
    """Great-circle distance (haversine formula)."""
    lat1, lat2 = math.radians(latitude), math.radians(float(airport["latitude"]))
    east = math.radians(float(airport["longitude"]) - longitude)
    a = math.sin((lat2 - lat1) / 2) ** 2 + math.cos(lat1) * math.cos(lat2) * math.sin(east / 2) ** 2
    return 12_742 * math.asin(math.sqrt(a))


@router.get("/", summary="The airports nearest to a place")
def nearest(
    latitude: float = Query(..., ge=-90, le=90),
    longitude: float = Query(..., ge=-180, le=180),
    limit: int = Query(5, ge=1, le=50),
):
    found = sorted(AIRPORTS, key=lambda airport: kilometres(airport, latitude, longitude))[:limit]
    return [
        {
            "iata": airport["iata"],
            "name": airport["name"],
            "kilometres": round(kilometres(airport, latitude, longitude), 1),
        }
        for airport in found
    ]
