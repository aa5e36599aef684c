import type { VersionChange } from './basics/version-change.ts'
import { BASIL } from './releases/basil.ts'
import { CLOVER } from './releases/clover.ts'
import { DAHLIA } from './releases/dahlia.ts'
import { DATED } from './releases/dated.ts'
import { ENDIVE } from './releases/endive.ts'

/** The changes of Stripe's API that the sandbox can revert for older versions, newest first. */
export const CHANGES: readonly VersionChange[] = [
  ...ENDIVE,
  ...DAHLIA,
  ...CLOVER,
  ...BASIL,
  ...DATED,
]

/**
 * Date of the oldest API version for which the sandbox can revert all changes. For older versions
 * some changes are missing, and responses carry a warning.
 */
export const COMPLETE_SINCE = '2025-03-31'
