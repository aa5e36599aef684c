import { type Database, isUnavailable, withErrors } from '@tollgate/database'
import { DatabaseUnavailable } from '../errors/errors.ts'

/** Wraps a database so that unavailability is reported as DatabaseUnavailable. */
export function withTypedErrors(database: Database): Database {
  return withErrors(database, (error) =>
    isUnavailable(error)
      ? new DatabaseUnavailable('The database is unavailable or too busy: try again', {
          cause: error,
        })
      : error,
  )
}
