/**
 * Certificates of the tests, made by openssl.
 */

/** Makes `<folder>/<name>.crt` and `<folder>/<name>.key`: self-signed, for that name and 127.0.0.1. */
export function makeCertificate(folder: string, name: string): void {
  const made = Bun.spawnSync({
    cmd: ['openssl', 'req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256'].concat(
      ['-nodes', '-days', '2', '-subj', `/CN=${name}`, '-addext', 'subjectAltName=IP:127.0.0.1'],
      ['-keyout', `${folder}/${name}.key`, '-out', `${folder}/${name}.crt`],
    ),
    stderr: 'pipe',
  });
  if (!made.success) throw new Error(made.stderr.toString());
}
