try {
  const { synthesize } = await import('./synthesize.ts');
  synthesize();
} catch (error) {
  // A slip in the settings, as whoever edits them wants to read it; anything else is our error.
  if (!(error instanceof SyntaxError)) throw error;
  const [place] = String(error.stack).split('\n');
  process.stderr.write(`${place}: ${error.message}\n`);
  process.exitCode = 1;
}
