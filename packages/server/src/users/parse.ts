/** What was wrong with each field, for a form or a terminal. */
export class InvalidAccount extends Error {
  override readonly name = 'InvalidAccount'
  readonly problems: Readonly<Partial<Record<'email' | 'password' | 'name', string>>>

  constructor(problems: InvalidAccount['problems']) {
    super(Object.values(problems).join(' '))
    this.problems = problems
  }
}

export interface NewAccount {
  readonly email: string
  readonly password: string
  readonly name: string | null
}

/** Long enough for any passphrase; longer ones are refused, never cut (threat T8). */
export const LONGEST_PASSWORD = 1024
const SHORTEST_PASSWORD = 8
const LONGEST_EMAIL = 254
const LONGEST_NAME = 100
const EMAIL_PROBLEM = 'Give an e-mail address such as ada@example.com.'

// Control characters, lone halves of a pair, and those that change the direction of what follows.
const UNPRINTABLE = /[\p{Cc}\p{Cs}\u2028\u2029\u202a-\u202e\u2066-\u2069\ufffd]/u

export function parseAccount(input: {
  readonly email: string
  readonly password: string
  readonly name?: string | null
}): NewAccount {
  const email = input.email.trim()
  const name = input.name?.trim() || null
  const problems: { email?: string; password?: string; name?: string } = {}
  if (!isEmail(email)) problems.email = EMAIL_PROBLEM
  const size = [...input.password].length
  if (size < SHORTEST_PASSWORD) {
    problems.password = `The password needs at least ${SHORTEST_PASSWORD} characters.`
  } else if (input.password.length > LONGEST_PASSWORD) {
    problems.password = `The password may have at most ${LONGEST_PASSWORD} characters.`
  } else if (/\p{Cs}/u.test(input.password)) {
    problems.password = 'The password is not valid text.'
  }
  if (name !== null && (name.length > LONGEST_NAME || UNPRINTABLE.test(name))) {
    problems.name = `The name may have at most ${LONGEST_NAME} printable characters.`
  }
  if (Object.keys(problems).length > 0) throw new InvalidAccount(problems)
  return { email, password: input.password, name }
}

/** For whoever wants to know before the rest is there. */
export function requireEmail(text: string): void {
  if (!isEmail(text.trim())) throw new InvalidAccount({ email: EMAIL_PROBLEM })
}

function isEmail(text: string): boolean {
  if (text.length > LONGEST_EMAIL || UNPRINTABLE.test(text)) return false
  return /^[^\s@<>"(),:;[\]\\]+@[^\s@<>"(),:;[\]\\]+\.[^\s@<>"(),:;[\]\\.]+$/u.test(text)
}

/**
 * What makes two spellings the same account: letter case and how accents are written. Letters that
 * only look alike stay different.
 */
export function emailKey(email: string): string {
  return email.trim().normalize('NFC').toLowerCase()
}
