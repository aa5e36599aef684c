import type { ServerContext } from '../../context.ts'

const LONGEST = 500
const DOT_SEGMENT = /\/(\.|%2e){1,2}(\/|$)/i

/** Null when a client may be called so, else why not (Client ID Metadata Document §3). */
export function addressProblem(
  clientId: string,
  hosts: readonly string[] | null,
  { options }: ServerContext,
): string | null {
  if (clientId.length > LONGEST) return `must not be longer than ${LONGEST} characters`
  if (!URL.canParse(clientId)) return 'is no address'
  const url = new URL(clientId)
  // One client, one spelling: it is compared character by character.
  if (url.href !== clientId) return `should be written ${url.href}`
  if (url.username !== '' || url.password !== '') return 'must not contain a user name or password'
  if (clientId.includes('#')) return 'must not have a fragment'
  if (url.pathname === '/' || DOT_SEGMENT.test(clientId.split('?')[0] ?? '')) {
    return 'must have a path without dot segments'
  }
  if (url.origin === options.issuerUrl.origin) return 'must not lead to this server'
  if (hosts && !hosts.includes(url.host)) return 'is on a host that this server does not take'
  return null
}
