import type { VersionChange } from './basics/version-change.ts'
import { BASIL_VERSION_CHANGES } from './releases/basil.ts'
import { CLOVER_VERSION_CHANGES } from './releases/clover.ts'
import { DAHLIA_VERSION_CHANGES } from './releases/dahlia.ts'
import { DATED_VERSION_CHANGES } from './releases/dated.ts'
import { ENDIVE_VERSION_CHANGES } from './releases/endive.ts'

/** The changes of Stripe's API that the sandbox can revert for older versions, newest first. */
export const VERSION_CHANGES: readonly VersionChange[] = [
  ...ENDIVE_VERSION_CHANGES,
  ...DAHLIA_VERSION_CHANGES,
  ...CLOVER_VERSION_CHANGES,
  ...BASIL_VERSION_CHANGES,
  ...DATED_VERSION_CHANGES,
]

/**
 * Date of the oldest API version for which the sandbox can revert all changes. For older versions
 * some changes are missing, and responses carry a warning.
 */
export const OLDEST_COMPLETE_VERSION = '2025-03-31'
