import { InvalidUse } from './errors.ts'

/**
 * The party that has a plan and uses up quotas: a user, a client acting for itself, or another owner of
 * subscriptions, such as a team.
 */
export interface Subject {
  /** Type of the subject: `user`, `client`, or a type of your own, such as `team`. */
  readonly type: string
  /** Id of the subject, unique within its type. */
  readonly id: string | number
}

const LONGEST = 320

/**
 * Returns the key of a subject in the tables of the gate.
 * @throws InvalidUse if the type or id is invalid
 */
export function formatSubject({ type, id }: Subject): string {
  const key = `${type}:${id}`
  if (/^[a-z][\w-]{0,62}$/i.test(type) && `${id}` !== '' && key.length <= LONGEST) return key
  throw new InvalidUse(
    `There is no subject ${JSON.stringify({ type, id })}. Give { type: 'user', id: 7 }: the type of letters and digits, both together at most ${LONGEST} characters.`,
  )
}

/** Returns the subject of a key in the tables. The id is a text. */
export function parseSubject(key: string): Subject {
  const at = key.indexOf(':')
  return { type: key.slice(0, at), id: key.slice(at + 1) }
}
