import fc from 'fast-check';

// A failed property tells enough: to look for its smallest example takes longer than all other tests.
fc.configureGlobal({ endOnFailure: true });
