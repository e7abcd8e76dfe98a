/**
 * Certificates of the tests, made by openssl.
 */

/** Makes `<folder>/<name>.crt` and `<folder>/<name>.key`: self-signed, for the subject. */
export function makeCertificate(folder: string, name: string, subject = 'IP:127.0.0.1'): void {
  const made = Bun.spawnSync({
    cmd: ['openssl', 'req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256'].concat(
      ['-nodes', '-days', '2', '-subj', `/CN=${name}`, '-addext', `subjectAltName=${subject}`],
      ['-keyout', `${folder}/${name}.key`, '-out', `${folder}/${name}.crt`],
    ),
    stderr: 'pipe',
  });
  if (!made.success) throw new Error(made.stderr.toString());
}
