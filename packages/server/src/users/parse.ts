import type { PageMessages } from '../messages/en.ts'
import { ENGLISH, type PageText } from '../messages/messages.ts'
import { defineError } from '../service-error.ts'

type AccountProblem = Extract<keyof PageMessages, `account.problem.${string}`>

/** Thrown if fields of an account are invalid. The messages are meant for people. */
export class InvalidAccount extends defineError('invalid-input') {
  readonly problems: Readonly<Partial<Record<'email' | 'password' | 'name', AccountProblem>>>

  constructor(problems: InvalidAccount['problems']) {
    super(
      Object.values(problems)
        .map((id) => ENGLISH(id))
        .join(' '),
    )
    this.problems = problems
  }

  /** Returns the messages in the language of the page, by field. */
  in(t: PageText): Readonly<Partial<Record<'email' | 'password' | 'name', string>>> {
    return Object.fromEntries(Object.entries(this.problems).map(([field, id]) => [field, t(id)]))
  }
}

export interface NewAccount {
  readonly email: string
  /** The password. `null` for a person who signs in with another provider only. */
  readonly password: string | null
  readonly name: string | null
}

/** Maximum length of a password. Longer ones are rejected, never truncated (threat T8). */
export const MAX_PASSWORD_LENGTH = 1024
const MIN_PASSWORD_LENGTH = 8
const MAX_EMAIL_LENGTH = 254
const MAX_NAME_LENGTH = 100

// Control characters, unpaired surrogates, and characters that change the text direction.
const UNPRINTABLE = /[\p{Cc}\p{Cs}\u2028\u2029\u202a-\u202e\u2066-\u2069\ufffd]/u

type Problems = { -readonly [Field in keyof InvalidAccount['problems']]: AccountProblem }

/**
 * Parses an account whose password the person chooses later.
 * @throws InvalidAccount
 */
export function parsePerson(input: {
  readonly email: string
  readonly name?: string | null
}): Omit<NewAccount, 'password'> {
  const problems: Problems = {}
  const person = readPerson(input, problems)
  if (Object.keys(problems).length > 0) throw new InvalidAccount(problems)
  return person
}

function readPerson(
  input: { readonly email: string; readonly name?: string | null },
  problems: Problems,
): Omit<NewAccount, 'password'> {
  const email = input.email.trim()
  const name = input.name?.trim() || null
  if (!isEmail(email)) problems.email = 'account.problem.email'
  if (name !== null && (name.length > MAX_NAME_LENGTH || UNPRINTABLE.test(name))) {
    problems.name = 'account.problem.name'
  }
  return { email, name }
}

export function parseAccount(input: {
  readonly email: string
  readonly password: string | null
  readonly name?: string | null
}): NewAccount {
  const problems: Problems = {}
  const person = readPerson(input, problems)
  const problem = input.password === null ? null : findPasswordProblem(input.password)
  if (problem !== null) problems.password = problem
  if (Object.keys(problems).length > 0) throw new InvalidAccount(problems)
  return { ...person, password: input.password }
}

function findPasswordProblem(password: string): AccountProblem | null {
  if ([...password].length < MIN_PASSWORD_LENGTH) return 'account.problem.shortPassword'
  if (password.length > MAX_PASSWORD_LENGTH) return 'account.problem.longPassword'
  return /\p{Cs}/u.test(password) ? 'account.problem.password' : null
}

/**
 * Validates an e-mail address before the rest of the account is known.
 * @throws InvalidAccount
 */
export function requireEmail(text: string): void {
  if (!isEmail(text.trim())) throw new InvalidAccount({ email: 'account.problem.email' })
}

/** Whether a name contains only characters that are shown as they are. */
export function isPrintableName(text: string): boolean {
  return !UNPRINTABLE.test(text)
}

/** Returns a name from another provider as accounts can have it. `null` if nothing is left. */
export function toName(text: string | null): string | null {
  const printable = (text ?? '').replace(new RegExp(UNPRINTABLE, 'gu'), '').trim()
  return printable.slice(0, MAX_NAME_LENGTH).toWellFormed().trim() || null
}

/** Whether the text is an e-mail address. */
export function isEmail(text: string): boolean {
  if (text.length > MAX_EMAIL_LENGTH || UNPRINTABLE.test(text)) return false
  return /^[^\s@<>"(),:;[\]\\]+@[^\s@<>"(),:;[\]\\]+\.[^\s@<>"(),:;[\]\\.]+$/u.test(text)
}

/**
 * Normalizes an e-mail address to identify the account: ignores letter case and the encoding of
 * accents. Letters that only look alike stay different.
 */
export function emailKey(email: string): string {
  return email.trim().normalize('NFC').toLowerCase()
}
