import type { ServerContext } from '../../context.ts'
import type { Form } from '../../http/form.ts'

/** Parameters of an authorization request that the server itself reads. */
const OWN: readonly string[] = [
  'client_id',
  'code_challenge',
  'code_challenge_method',
  'login_hint',
  'max_age',
  'prompt',
  'redirect_uri',
  'resource',
  'response_mode',
  'response_type',
  'scope',
  'state',
  'ui_locales',
]

/** Only what somebody here reads: RFC 6749 §3.1 has unknown parameters ignored, so nothing else need be stored. */
export function knownParameters(params: Form, { features }: ServerContext): Form {
  const known = new Set([...OWN, ...features.all.flatMap((each) => each.requestParameters ?? [])])
  return new Map([...params].filter(([name]) => known.has(name)))
}
