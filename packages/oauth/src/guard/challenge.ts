import type { HttpResponse } from '@tollgate/http'

/**
 * Adds the accepted algorithms (`algs`) to a DPoP challenge that is already in the response's
 * `WWW-Authenticate` header. If a 401 response has a Bearer challenge only, adds a DPoP challenge
 * with `algs` beside it (RFC 9449 §7.1 and §7.2).
 */
export function addDpopChallenge(
  response: HttpResponse,
  algorithms: readonly string[] | undefined,
): HttpResponse {
  const challenge = response.headers['www-authenticate']
  if (!algorithms || typeof challenge !== 'string') return response
  const extended = addAlgorithms(challenge, response.status, `algs="${algorithms.join(' ')}"`)
  return { ...response, headers: { ...response.headers, 'www-authenticate': extended } }
}

function addAlgorithms(challenge: string, status: number, algorithms: string): string {
  if (challenge.startsWith('DPoP ')) {
    return challenge.includes('algs=') ? challenge : `${challenge}, ${algorithms}`
  }
  return status === 401 && challenge.startsWith('Bearer ')
    ? `${challenge}, DPoP ${algorithms}`
    : challenge
}
