import type { VersionChange } from './basics/version-change.ts'
import { BASIL } from './releases/basil.ts'
import { CLOVER } from './releases/clover.ts'
import { DAHLIA } from './releases/dahlia.ts'
import { DATED_VERSION_CHANGES } from './releases/dated.ts'
import { ENDIVE_VERSION_CHANGES } from './releases/endive.ts'

/** The changes of Stripe's API that the sandbox can revert for older versions, newest first. */
export const VERSION_CHANGES: readonly VersionChange[] = [
  ...ENDIVE_VERSION_CHANGES,
  ...DAHLIA,
  ...CLOVER,
  ...BASIL,
  ...DATED_VERSION_CHANGES,
]

/**
 * Date of the oldest API version for which the sandbox can revert all changes. For older versions
 * some changes are missing, and responses carry a warning.
 */
export const OLDEST_COMPLETE_VERSION = '2025-03-31'
