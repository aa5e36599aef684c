import { type Database, isUnavailable, withErrors } from '@tollgate/database'
import { DatabaseUnavailable } from '../errors.ts'

/** The same database, which says by an error of billing's that it is away. */
export function withTypedErrors(database: Database): Database {
  return withErrors(database, (error) =>
    isUnavailable(error)
      ? new DatabaseUnavailable('The database is away or too busy: try again', { cause: error })
      : error,
  )
}
