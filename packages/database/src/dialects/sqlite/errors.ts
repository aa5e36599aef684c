import type { ErrorKindOf } from '../../errors.ts'
import { FILE_GONE } from './storage/file.ts'

const broken =
  /^SQLITE_(BUSY|LOCKED|IOERR|FULL|READONLY|CANTOPEN|NOTADB|CORRUPT|PROTOCOL|NOMEM|INTERRUPT)/
const duplicate = /^SQLITE_CONSTRAINT_(UNIQUE|PRIMARYKEY|ROWID)$/
/** Messages of driver errors that have no code. */
const brokenMessage = /^(The database connection is not open|ConnectionFailed)/

export const findSqliteErrorKind: ErrorKindOf = (error, code) => {
  if (code === undefined) return brokenMessage.test(error.message) ? 'broken' : undefined
  if (code === FILE_GONE || broken.test(code)) return 'broken'
  return duplicate.test(code) ? 'duplicate' : undefined
}
