// The official SDK at the same work: prints the CPU seconds that it took.
import { Sandbox } from 'e2b'

const [what, amount] = process.argv.slice(2)
const sandbox = await Sandbox.create()
const before = process.cpuUsage()
if (what === 'stream') {
  const result = await sandbox.commands.run(`STREAM ${amount}`)
  if (result.stdout.length === 0) process.exit(1)
} else if (what === 'commands') {
  for (let i = 0; i < Number(amount); i++) await sandbox.commands.run('true')
} else {
  await sandbox.commands.run('echo', { onStdout: (text) => process.stdout.write(text) })
}
const used = process.cpuUsage(before)
if (what !== 'cold') console.log((used.user + used.system) / 1e6)
