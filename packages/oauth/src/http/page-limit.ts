import { ValidationFailed } from '../errors.ts'

const DEFAULT_PAGE_SIZE = 50
const MAX_PAGE_SIZE = 1000

/**
 * Checks the size of a page that the application requests.
 * @throws ValidationFailed unless it is a whole number from 1 to 1000
 */
export function parsePageLimit(limit: number = DEFAULT_PAGE_SIZE): number {
  if (Number.isInteger(limit) && limit >= 1 && limit <= MAX_PAGE_SIZE) return limit
  throw new ValidationFailed({
    limit: [`The limit must be a whole number from 1 to ${MAX_PAGE_SIZE}.`],
  })
}
