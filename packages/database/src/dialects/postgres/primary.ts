/**
 * SQL expression for the reason why this server is not the primary, or `null`. A server that
 * reports transactions as read-only counts as not primary: a standby, or a primary that was fenced
 * or whose disk is full.
 */
export const NOT_PRIMARY_REASON_SQL = `case
  when pg_is_in_recovery() then 'is a standby in recovery'
  when current_setting('transaction_read_only') = 'on' then 'is read-only'
end`
