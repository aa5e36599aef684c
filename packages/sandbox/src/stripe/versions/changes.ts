import type { VersionChange } from './basics/version-change.ts'
import { BASIL } from './releases/basil.ts'
import { CLOVER } from './releases/clover.ts'
import { DAHLIA } from './releases/dahlia.ts'
import { DATED } from './releases/dated.ts'
import { ENDIVE } from './releases/endive.ts'

/** The API changes that the sandbox can revert, newest first. */
export const CHANGES: readonly VersionChange[] = [
  ...ENDIVE,
  ...DAHLIA,
  ...CLOVER,
  ...BASIL,
  ...DATED,
]

/** For API versions before this date some changes are missing, and responses carry a warning. */
export const COMPLETE_SINCE = '2025-03-31'
