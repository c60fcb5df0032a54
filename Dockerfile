# How a digest is put behind the tag: docs/decisions/0020-three-locks.md.
FROM python:3.13.15-slim-trixie

# Two heaps for all threads: one of each thread would keep the size of its largest request.
ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 PIP_NO_CACHE_DIR=1 \
    PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore REELROOM_VAR=/app/var \
    MALLOC_ARENA_MAX=2
WORKDIR /app

# The sandbox's image is built with LOCK=requirements-media.lock, whose wheels hold GPL libraries.
ARG LOCK=requirements.lock
# Only wheels, each with its hash; this layer changes with the lock alone.
COPY ${LOCK} requirements.lock
RUN pip install --no-deps --only-binary :all: --require-hashes -r requirements.lock

COPY manage.py LICENSE docs/reference/licences.md ./
COPY dashboard dashboard
COPY proxyapi proxyapi
COPY templates templates
COPY static static
RUN python -m compileall -q dashboard proxyapi \
    && useradd --uid 10001 --no-create-home reelroom \
    && install -d -o reelroom -g reelroom -m 700 var

USER reelroom
EXPOSE 8000
# `prepare` migrates and collects static files when there is something to do.
CMD ["sh", "-c", "python manage.py prepare && exec uvicorn dashboard.asgi:application --host 0.0.0.0 --port 8000 --no-proxy-headers --lifespan off --no-access-log --timeout-graceful-shutdown 5 --timeout-keep-alive 75"]
