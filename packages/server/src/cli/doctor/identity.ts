import type { Client } from '@tollgate/oauth'
import type { Config } from '../../config/config.ts'
import { type Finding, ok, warning } from './finding.ts'

const CHECK = 'openid'
const MOST_SHOWN = 20

/** What other applications learn of people, and by which names they know them. */
export function checkIdentity(config: Config, clients: readonly Client[]): Finding[] {
  const { settings, pairwiseSalt } = config
  const { identityScopes, idTokenAlgorithm, claimsInIdToken, responseTypes } = settings
  if (!settings.openid) return [ok(CHECK, 'Other applications cannot sign people in here')]
  const scopes = ['openid', ...identityScopes].join(', ')
  const told = claimsInIdToken
    ? 'and say what the scopes tell'
    : 'and say nothing else: clients that never ask UserInfo, such as Auth.js, learn no name'
  return [
    ok(CHECK, `Other applications can sign people in here, and may ask for ${scopes}`),
    ok(CHECK, `ID tokens are signed with ${idTokenAlgorithm}, ${told}`),
    ...(responseTypes.length > 0 ? [warnOfFrontChannel(responseTypes)] : []),
    ...(pairwiseSalt === null
      ? clients.filter(isPairwise).slice(0, MOST_SHOWN).map(warnOfMissingSalt)
      : [ok(CHECK, 'Clients may know people by names of their own (pairwise)')]),
  ]
}

function warnOfFrontChannel(types: readonly string[]): Finding {
  const fix =
    'Codes are safer (RFC 9700). Drop TOLLGATE_RESPONSE_TYPES, or responseTypes in the settings.'
  return warning(CHECK, `Tokens pass through the browser by ${types.join(', ')}`, fix)
}

function isPairwise({ settings }: Client): boolean {
  return settings.subject_type === 'pairwise'
}

function warnOfMissingSalt({ name, id }: Client): Finding {
  const what = `${name} (${id}) knows people by names of its own, and is refused without a salt`
  return warning(
    CHECK,
    what,
    'Set TOLLGATE_PAIRWISE_SALT to what it was: new names are new people.',
  )
}
