#!/bin/sh
exec protoc "$@"
