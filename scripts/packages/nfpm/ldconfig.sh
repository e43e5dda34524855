#!/bin/sh
/sbin/ldconfig || true
