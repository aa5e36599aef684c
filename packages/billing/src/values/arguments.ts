import { InvalidArgument } from '../errors.ts'

export function requireCount(count: unknown): number {
  if (typeof count === 'number' && Number.isSafeInteger(count) && count > 0) return count
  throw new InvalidArgument(`${String(count)} is not a quantity; expected a whole number above 0`)
}

export function requireText(what: string, value: unknown): string {
  if (typeof value === 'string' && value.trim() !== '' && value.length <= 255) return value
  throw new InvalidArgument(`The ${what} is missing, or is not text`)
}
