/** MariaDB 12 gives `read_only` by name, the others as a number. */
const isOn = (name: string) => `cast(@@global.${name} as char) not in ('0', 'OFF')`

/**
 * Why this server is not the primary, or null. `super_read_only` of MySQL implies `read_only`; readers of Aurora have
 * the other one. Nothing tells a replica that takes writes.
 */
export const SECONDARY_REASON = `case
  when ${isOn('read_only')} then 'is read-only (read_only)'
  when ${isOn('innodb_read_only')} then 'is read-only (innodb_read_only)'
end`
