import type { HttpResponse } from '@tollgate/http'

/** RFC 9449 §7.1 and §7.2: says what proofs may be signed with, and that tokens may come with one. */
export function withKeyChallenge(
  response: HttpResponse,
  algorithms: readonly string[] | undefined,
): HttpResponse {
  const challenge = response.headers['www-authenticate']
  if (!algorithms || typeof challenge !== 'string') return response
  const told = tell(challenge, response.status, `algs="${algorithms.join(' ')}"`)
  return { ...response, headers: { ...response.headers, 'www-authenticate': told } }
}

function tell(challenge: string, status: number, algorithms: string): string {
  if (challenge.startsWith('DPoP ')) {
    return challenge.includes('algs=') ? challenge : `${challenge}, ${algorithms}`
  }
  return status === 401 && challenge.startsWith('Bearer ')
    ? `${challenge}, DPoP ${algorithms}`
    : challenge
}
