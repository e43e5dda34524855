# AnyNPU on Debian, from the packages that `make packages` writes:
#   docker build -f scripts/packages/docker/debian.Dockerfile -t anynpu build/packages
#   docker run --rm -v "$PWD:/work" anynpu run model.onnx -i image=picture.png
FROM debian:13-slim
ARG TARGETARCH=amd64
RUN --mount=type=bind,target=/packages dpkg -i /packages/libanynpu_*_${TARGETARCH}.deb /packages/anynpu_*_${TARGETARCH}.deb
WORKDIR /work
ENTRYPOINT ["anynpu"]
