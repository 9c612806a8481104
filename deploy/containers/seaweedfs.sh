# SeaweedFS as an S3 server, for docker-compose.yml: all its servers in one process.
rm -f /tmp/synced

# What is acknowledged is to be on the disk. The rule stays in the store once it is made; it is looked for at
# each start, and the health check waits for it.
(
  until echo 'fs.configure -locationPrefix=/buckets/ -fsync -apply' |
    weed shell -master=127.0.0.1:9333 -filer=127.0.0.1:8888 2>/dev/null | grep -q '"fsync": *true'
  do
    sleep 1
  done
  touch /tmp/synced
) &

# Its parts sign what they ask of each other: other containers reach the ports, and may not write to them.
key=$(printf 'between its parts %s' "$S3_ADMIN_SECRET_KEY" | sha256sum | cut -c1-64)
export WEED_JWT_SIGNING_KEY="$key" WEED_JWT_SIGNING_READ_KEY="$key"
export WEED_JWT_FILER_SIGNING_KEY="$key" WEED_JWT_FILER_SIGNING_READ_KEY="$key"

# Who may do what, with the keys of the environment.
(umask 077; sh /etc/rlaif/identities.sh >/tmp/s3.json)

# Every port is given: `mini` takes those of an earlier run otherwise. -ip is how its parts find each other.
# -disableHttp closes the port that writes objects without a credential. A write to a bucket that does not
# exist fails, as on AWS.
exec weed -logtostderr=true mini -dir=/data -ip=127.0.0.1 -ip.bind=0.0.0.0 \
  -s3.port=9000 -s3.config=/tmp/s3.json -master.port=9333 -volume.port=9340 -filer.port=8888 -admin.port=9646 \
  -s3.autoCreateBucket=false -disableHttp -webdav=false -admin.ui=false -s3.port.iceberg=0 -s3.port.lance=0 \
  -master.telemetry=false -master.electionTimeout=1s -volume.preStopSeconds=0 -volume.max=5000 \
  -filer.localSocket=/tmp/filer.sock -s3.localSocket=/tmp/s3.sock
