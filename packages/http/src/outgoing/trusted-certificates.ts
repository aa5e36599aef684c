import { readFile } from 'node:fs/promises'
import type { SecureContext } from 'node:tls'

/** What newer versions of Node have beside the list they come with. */
interface CertificateLists {
  readonly rootCertificates: readonly string[]
  getCACertificates?(kind: 'default'): readonly string[]
}

/**
 * Those that Node trusts by itself, and these. Whoever gives Node a list gets that list alone, so what the operator has
 * named in NODE_EXTRA_CA_CERTS has to be in it. To be kept: 150 certificates take 20 ms.
 */
export async function trustAlso(certificates: readonly string[]): Promise<SecureContext> {
  // Node's own list takes time to load.
  const tls = await import('node:tls')
  const { getCACertificates, rootCertificates }: CertificateLists = tls
  const usual = getCACertificates?.('default') ?? [...rootCertificates, ...(await extra())]
  return tls.createSecureContext({ ca: [...usual, ...certificates] })
}

/** One file with all of them. Node has warned of one that cannot be read, and goes on without. */
async function extra(): Promise<string[]> {
  const file = process.env.NODE_EXTRA_CA_CERTS
  if (!file) return []
  return [await readFile(file, 'utf8').catch(() => '')].filter(Boolean)
}
