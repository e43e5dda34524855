# AnyNPU on Alpine, from the packages that `make packages` writes:
#   docker build -f scripts/packages/docker/alpine.Dockerfile -t anynpu build/packages
#   docker run --rm -v "$PWD:/work" anynpu run model.onnx -i image=picture.png
FROM alpine:3.22
RUN --mount=type=bind,target=/packages apk add --no-network --allow-untrusted /packages/libanynpu_*_$(apk --print-arch).apk /packages/anynpu_*_$(apk --print-arch).apk
WORKDIR /work
ENTRYPOINT ["anynpu"]
