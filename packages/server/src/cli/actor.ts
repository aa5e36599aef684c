import { userInfo } from 'node:os'
import { UsageError } from './usage-error.ts'

/** Longest name that the audit log stores. */
const MAX_LENGTH = 191

/**
 * Validates the name given with `--as`, under which the audit log records a command. Without it,
 * returns the name of the operating system's user.
 * @throws UsageError
 */
export function parseActor(actorOption: string | undefined): string {
  if (actorOption === undefined) return systemUser()
  const name = actorOption.trim()
  if (name !== '' && name.length <= MAX_LENGTH && !/[\p{Cc}\p{Cs}\p{Cf}]/u.test(name)) return name
  throw new UsageError(
    `--as expects a name of 1 to ${MAX_LENGTH} printable characters for the audit log, not ${JSON.stringify(actorOption.slice(0, 40))}`,
  )
}

function systemUser(): string {
  try {
    return userInfo().username || 'unknown'
  } catch {
    // A container may run as a user id without a name.
    return 'unknown'
  }
}
